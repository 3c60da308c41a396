import {
  type ApprovalStore,
  EVERY_ROW,
  type EventLog,
  type EventStream,
  type RunStore,
  type StoredEvent,
  toJsonText,
} from '@perdure/ports'
import { toApprovalResource } from '../approvals/approval-resource.ts'
import { eachItem } from '../collections/each-item.ts'
import { type ExportRecord, oldestFirst } from '../json/export-lines.ts'
import { eachEvent } from '../realtime/each-event.ts'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import { outlineEvent } from '../realtime/outline-event.ts'
import { renderListedRun } from '../runs/run-outcome.ts'

export interface RunRecordsDeps {
  readonly approvals: ApprovalStore
  readonly events: EventLog
  readonly render: RenderEnvelope
  readonly basePath: string
}

type OutlinedRun = Awaited<ReturnType<RunStore['outline']>>['items'][number]

/** A run and its approvals, as an export has them. */
export async function* runRecords(
  { approvals, basePath }: Pick<RunRecordsDeps, 'approvals' | 'basePath'>,
  run: OutlinedRun,
): AsyncGenerator<ExportRecord, void, void> {
  yield { type: 'run', record: renderListedRun(run, basePath) }
  const approvalsFrom = (cursor: string | undefined) =>
    approvals.list({ runId: run.id }, { ...oldestFirst(cursor), limit: 1 }, EVERY_ROW)
  for await (const approval of eachItem(approvalsFrom)) {
    yield { type: 'approval', record: toJsonText(toApprovalResource(approval)) }
  }
}

interface Stream {
  readonly stream: EventStream
  /** As readers of the stream name it. */
  readonly subject: string
  /** The end of the log when the export began. */
  readonly head: { readonly epoch: string; readonly position: number }
}

/** An event up to this length is one part of an export. Bytes of UTF-8. */
const MAX_LINE_BYTES = 64 * 1024

/** The events of a run or session, as delivered. */
export function eventRecords(
  { events, render }: Pick<RunRecordsDeps, 'events' | 'render'>,
  { stream, subject, head: { epoch, position: through } }: Stream,
): AsyncGenerator<ExportRecord, void, void> {
  const show = (event: StoredEvent, isRepeat: boolean) => render(event, { subject, epoch, isRepeat })
  return eachEvent(events, { stream, through }, (event) => ({
    type: 'event',
    record: outlineEvent(events, { stream, show, maxShortBytes: MAX_LINE_BYTES }, event),
  }))
}
