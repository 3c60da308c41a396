import {
  type EventLog,
  fromJsonText,
  type JsonText,
  type Page,
  type PageQuery,
  type RunRecord,
  type StoredEvent,
  toJsonText,
} from '@perdure/ports'
import { LOG_LEVELS, type LogLevel } from '@perdure/protocol'
import type { PageItem } from '../json/json-page.ts'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import type { EventEnvelope } from '../realtime/event-envelope.ts'
import { readEventPage } from '../realtime/read-event-page.ts'
import { logTopic, runSubject } from './run-events.ts'

export interface LogPageDeps {
  readonly events: EventLog
  readonly render: RenderEnvelope
}

/**
 * Reads a page of the log lines of a run, of a level or more severe. Lines pass the delivery sanitizer, as events do.
 */
export async function readLogPage(
  { events, render }: LogPageDeps,
  { run, level = 'debug' }: { readonly run: RunRecord; readonly level?: LogLevel | undefined },
  page: PageQuery,
): Promise<Page<PageItem>> {
  const view = {
    ...{ stream: { topic: logTopic(run.id) }, subject: runSubject(run), render },
    matches: ({ payload }: StoredEvent) => severityOf((fromJsonText(payload) as LogLine).level) >= severityOf(level),
    toItem: toLine,
  }
  return readEventPage(events, view, page)
}

interface LogLine {
  readonly runId: string
  readonly level: LogLevel
}

function toLine(envelope: JsonText): JsonText {
  const { eventId, at, payload } = fromJsonText(envelope) as EventEnvelope
  const { runId: _, ...line } = payload as LogLine
  return toJsonText({ eventId, at, ...line })
}

const severityOf = (level: LogLevel) => LOG_LEVELS.indexOf(level)
