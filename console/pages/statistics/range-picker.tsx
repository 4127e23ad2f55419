/** The time that is shown: one of the presets by one click, or any span by its two ends. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { formatTime } from '../../lib/format.ts';
import { readLocal, writeLocal } from '../../lib/zoned-time.ts';
import { isSpan, STATISTICS_RANGES, type StatisticsQuery } from '../../routes/statistics.ts';
import { usePreference, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { statisticsText } from '../../text/statistics.ts';
import type { TimeRange } from '../overview/time-range.ts';
import styles from './range-picker.module.css';

interface RangePickerProps {
  readonly range: StatisticsQuery['range'];
  readonly span: TimeRange;
  readonly onChange: (range: StatisticsQuery['range']) => void;
}

export function RangePicker({ range, span, onChange }: RangePickerProps) {
  const t = useText(statisticsText);
  const locale = usePreference('locale');
  const zone = useZone();
  const [isOpen, setOpen] = useState(false);
  const shown = [span.from, span.to].map((at) => formatTime(at * 1000, { locale, zone }).slice(0, 16));
  return (
    <>
      <Button icon="down" onClick={() => setOpen(true)}>
        {typeof range === 'string' ? t.last(t.ranges[range]) : shown.join(' – ')}
      </Button>
      {isOpen && <RangeDialog {...{ range, span, onChange }} onClose={() => setOpen(false)} />}
    </>
  );
}

function RangeDialog({ range, span, onChange, onClose }: RangePickerProps & { readonly onClose: () => void }) {
  const t = useText(statisticsText);
  const common = useText(commonText);
  const zone = useZone();
  const [from, setFrom] = useState(writeLocal(span.from * 1000, zone));
  const [to, setTo] = useState(writeLocal(span.to * 1000, zone));
  const chosen = { from: (readLocal(from, zone) ?? 0) / 1000, to: (readLocal(to, zone) ?? 0) / 1000 };
  const choose = (next: StatisticsQuery['range']) => {
    onChange(next);
    onClose();
  };
  return (
    <Dialog
      title={t.rangeTitle}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" disabled={!isSpan(chosen)} onClick={() => choose(chosen)}>
            {t.apply}
          </Button>
        </>
      }
    >
      <div className={styles['presets']}>
        {STATISTICS_RANGES.map((preset) => (
          <Button key={preset} aria-pressed={preset === range} onClick={() => choose(preset)}>
            {t.ranges[preset]}
          </Button>
        ))}
      </div>
      <Field label={t.from}>
        {(ids) => (
          <TextInput ids={ids} type="datetime-local" value={from} onChange={(event) => setFrom(event.target.value)} />
        )}
      </Field>
      <Field label={t.to} help={t.inZone(zone)} error={isSpan(chosen) ? undefined : t.spanProblem}>
        {(ids) => (
          <TextInput ids={ids} type="datetime-local" value={to} onChange={(event) => setTo(event.target.value)} />
        )}
      </Field>
    </Dialog>
  );
}
