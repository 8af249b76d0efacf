import { Choice } from '../../ui/Choice';
import { value } from '../../ui/format';
import { IconButton } from '../../ui/IconButton';
import { Slider } from '../../ui/Slider';
import { brightness, contrast, kKinds, kTitles, linkZoom, sharedZoom, shownKind, tileSize } from './settings';
import { kActual, kFit } from './zoom';

export function Toolbar({ images }: { images: boolean }) {
  const percent = (x: number): string => `${value(x * 100, 3)} %`;
  const changed = brightness.value !== 1 || contrast.value !== 1 || sharedZoom.value.scale !== 1;
  return (
    <div class="media-toolbar" role="toolbar" aria-label="How media are shown">
      <Choice
        label="Kind"
        value={shownKind.value}
        onChange={(kind) => (shownKind.value = kind)}
        options={[{ value: 'all', label: 'All' }, ...kKinds.map((kind) => ({ value: kind, label: kTitles[kind] }))]}
      />
      {images && (
        <>
          <Choice
            label="Size of the images"
            value={tileSize.value}
            onChange={(size) => (tileSize.value = size)}
            options={[
              { value: 'small', label: 'S', title: 'Small images' },
              { value: 'medium', label: 'M', title: 'Medium images' },
              { value: 'large', label: 'L', title: 'Large images' },
            ]}
          />
          <div class="choice" role="group" aria-label="Zoom of all images">
            <button type="button" aria-pressed={sharedZoom.value.scale === 1} onClick={() => (sharedZoom.value = kFit)}>
              Fit
            </button>
            <button type="button" aria-pressed={sharedZoom.value.scale === 0} onClick={() => (sharedZoom.value = kActual)} title="Actual size: one image pixel per screen pixel" aria-label="Actual size">
              1:1
            </button>
          </div>
          <label class="media-check" title="One zoom for all images">
            <input type="checkbox" checked={linkZoom.value} onChange={(event) => (linkZoom.value = event.currentTarget.checked)} />
            Link zoom
          </label>
          <Slider label="Brightness" min={0} max={3} step={0.05} value={brightness.value} format={percent} onInput={(x) => (brightness.value = x)} />
          <Slider label="Contrast" min={0} max={5} step={0.05} value={contrast.value} format={percent} onInput={(x) => (contrast.value = x)} />
          <IconButton
            icon="reset"
            label="Reset brightness, contrast and zoom"
            disabled={!changed}
            onClick={() => {
              brightness.value = 1;
              contrast.value = 1;
              sharedZoom.value = kFit;
            }}
          />
        </>
      )}
    </div>
  );
}
