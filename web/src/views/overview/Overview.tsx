// Answers at a glance: does it learn, is anything wrong, and where.
import { MetricCard } from '../../chart/MetricCard';
import { type Headline, headlines } from '../../headline';
import { Alerts } from './Alerts';
import { CapturePanel } from './CapturePanel';
import { RunsTable } from './RunsTable';
import './overview.css';

// The card of a single tag is the same as in the metrics view: pinned here, it is pinned there.
function HeadlineCard({ headline, large }: { headline: Headline; large?: boolean }) {
  const { name, tags } = headline;
  const single = tags.length === 1;
  return (
    <MetricCard
      id={single ? `metrics:${tags[0]}` : `headline:${name}`}
      title={name}
      tags={tags}
      large={large ?? false}
      mayPin={single}
      clipFew
    />
  );
}

export default function Overview() {
  const [first, ...others] = headlines.value;
  return (
    <div class="overview">
      <Alerts />
      {first && (
        <div class={`headline-grid ${others.length === 0 ? 'headline-alone' : ''}`}>
          <HeadlineCard headline={first} large />
          {others.slice(0, 2).map((headline) => (
            <HeadlineCard key={headline.name} headline={headline} />
          ))}
        </div>
      )}
      <RunsTable />
      <CapturePanel />
    </div>
  );
}
