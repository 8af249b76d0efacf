// Answers at a glance: does it learn, is anything wrong, and where.
import { MetricCard } from '../../chart/MetricCard';
import { useAfterFirstChart } from '../../chart/frames';
import { type Headline, headlines } from '../../headline';
import { allViews } from '../../registry';
import { tags } from '../../state';
import { Alerts } from './Alerts';
import { RunsTable } from './RunsTable';
import { alsoRecorded } from './also';
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
    />
  );
}

function AlsoRecorded() {
  const words = alsoRecorded(tags.value, allViews());
  if (words.length === 0) return null;
  return (
    <p class="muted also-recorded" role="note">
      Also recorded, and shown by no view: {words.join(', ')}. <code>sonde ls</code> lists them.
    </p>
  );
}

export default function Overview() {
  const [first, ...others] = headlines.value;
  const later = useAfterFirstChart();
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
      {later && <RunsTable />}
      <AlsoRecorded />
    </div>
  );
}
