import { Icon, type IconName } from './icons';

export interface IconButtonProps {
  icon: IconName;
  label: string; // for screen readers, and on hover
  pressed?: boolean;
  expanded?: boolean;
  disabled?: boolean;
  class?: string;
  onClick: (event: MouseEvent) => void;
}

export function IconButton(props: IconButtonProps) {
  const states: Record<string, boolean> = {};
  if (props.pressed !== undefined) states['aria-pressed'] = props.pressed;
  if (props.expanded !== undefined) states['aria-expanded'] = props.expanded;
  return (
    <button
      type="button"
      class={`icon-button ${props.class ?? ''}`}
      aria-label={props.label}
      title={props.label}
      disabled={props.disabled ?? false}
      onClick={props.onClick}
      {...states}
    >
      <Icon name={props.icon} />
    </button>
  );
}
