import { beginFold, foldLog, type LogEvent, type Transcript, transcriptOf } from '@perdure/interop'
import type { TestRun } from '@perdure/server-app/testing'

/** What a page shows of the run. */
export function shownBy({ runId, events }: Pick<TestRun, 'runId' | 'events'>): Transcript {
  const log = events.map(
    (event, index): LogEvent => ({
      ...{ ...event, eventId: `e.${index + 1}`, at: '2026-01-01T00:00:00.000Z' },
    }),
  )
  return transcriptOf(foldLog(log, beginFold(runId)))
}

/** The items that show text and tools, without ids of blocks. */
export const textsOf = (run: Pick<TestRun, 'runId' | 'events'>): readonly string[] =>
  shownBy(run).items.flatMap((item) => (item.kind === 'text' || item.kind === 'reasoning' ? [item.text] : []))

/** How often the run was charged for a model call. */
export const reportsOf = ({ events }: Pick<TestRun, 'events'>): number =>
  events.filter(({ type }) => type === 'usage').length
