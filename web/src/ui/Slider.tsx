export interface SliderProps {
  label: string;
  value: number;
  min: number;
  max: number;
  step: number;
  format?: (value: number) => string;
  hideLabel?: boolean; // it stays for screen readers
  hideValue?: boolean;
  onInput: (value: number) => void;
}

export function Slider(props: SliderProps) {
  const shown = props.format ? props.format(props.value) : String(props.value);
  return (
    <label class="slider">
      {!props.hideLabel && <span class="slider-label">{props.label}</span>}
      <input
        type="range"
        aria-label={props.label}
        aria-valuetext={shown}
        min={props.min}
        max={props.max}
        step={props.step}
        value={props.value}
        onInput={(event) => props.onInput(Number(event.currentTarget.value))}
      />
      {!props.hideValue && <output class="slider-value">{shown}</output>}
    </label>
  );
}
