// Without a click: is it learning, is anything wrong, where.
import { MetricCard } from '../../chart/MetricCard';
import { headlines } from '../../headline';
import { Alerts } from './Alerts';
import { RunsTable } from './RunsTable';
import './overview.css';

export default function Overview() {
  const [first, ...others] = headlines.value;
  return (
    <div class="overview">
      <Alerts />
      {first && (
        <div class={`headline-grid ${others.length === 0 ? 'headline-alone' : ''}`}>
          <MetricCard id={`headline:${first.name}`} title={first.name} tags={first.tags} large />
          {others.slice(0, 2).map((headline) => (
            <MetricCard key={headline.name} id={`headline:${headline.name}`} title={headline.name} tags={headline.tags} />
          ))}
        </div>
      )}
      <RunsTable />
    </div>
  );
}
