// The chosen tensor at the cursor: what was recorded there, one statistic as a line, and where to look next.
import { MetricCard } from '../../chart/MetricCard';
import { cursorStep } from '../../state';
import { integer, middle } from '../../ui/format';
import { IconButton } from '../../ui/IconButton';
import { useAsked, useThrottled } from '../../ui/hooks';
import { Failure, Loading } from '../../ui/states';
import { askCell } from './api';
import { graphLink, linesLink, tensorLink } from './links';
import { castNumbers, recordedNumbers, shapeText } from './numbers';
import type { Tensor } from './rows';
import { panel } from './settings';
import type { StatisticInfo } from './statistics';

const kLines = ['rms', 'mean_abs', 'abs_max', 'zero_fraction', 'non_finite'];

export function Panel({ run, tensor, info, version }: { run: string; tensor: Tensor; info: StatisticInfo; version: number }) {
  const step = useThrottled(cursorStep.value, 60);
  const question = { run, tag: tensor.tag, statistic: info.statistic, first: step, last: step, step };
  const asked = useAsked(JSON.stringify(question), (signal) => askCell(question, signal), version);
  const cell = asked.value;
  const toTensor = tensorLink(run, tensor.tag, step);
  const toGraph = graphLink(run, tensor.tag, step);
  const casts = cell ? castNumbers(cell) : [];
  return (
    <aside class="net-panel" aria-label="Tensor">
      <header>
        <h2 title={middle(tensor.tag, 300)}>{middle(tensor.name, 34)}</h2>
        <IconButton icon="close" label="Close" onClick={() => (panel.value = false)} />
      </header>
      {asked.error && !cell && <Failure text={asked.error} />}
      {!cell && !asked.error && <Loading what="Reading the record" />}
      {cell && (
        <>
          <p class="muted">
            {tensor.kind} · {cell.dtype} {middle(shapeText(cell.shape), 40)} · step {integer(cell.step)}
          </p>
          <table class="net-numbers" data-step={cell.step}>
            <tbody>
              {recordedNumbers(cell).map(([name, text]) => (
                <tr key={name}>
                  <th>{name}</th>
                  <td class={name === 'NaN' && cell.nan > 0 ? 'net-nan' : name.endsWith('Inf') && text !== '0' ? 'net-inf' : ''}>{text}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {casts.length > 0 && (
            <>
              <p class="section-title">If cast</p>
              <table class="net-numbers">
                <tbody>
                  {casts.map(([name, text]) => (
                    <tr key={name}>
                      <th>{name}</th>
                      <td>{text}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </>
          )}
        </>
      )}
      <div class="net-line">
        <MetricCard id={`network:${info.statistic}:${tensor.tag}`} title={info.label} tags={[`stat:${info.statistic}:${tensor.tag}`]} mayPin={false} />
      </div>
      <nav class="net-links" aria-label="This tensor elsewhere">
        {toTensor && (
          <a class="text-button" href={toTensor}>
            Tensor
          </a>
        )}
        {toGraph && (
          <a class="text-button" href={toGraph}>
            Graph node
          </a>
        )}
        <a class="text-button" href={linesLink([...new Set([info.statistic, ...kLines])], tensor.tag, step)}>
          Lines in Metrics
        </a>
      </nav>
    </aside>
  );
}
