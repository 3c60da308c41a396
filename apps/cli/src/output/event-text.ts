import type { Event } from '@perdure/client'
import type { RunLogLine } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import { oneLine } from './columns.ts'
import type { Colour, Paint } from './paint.ts'

const TIME = { from: 'YYYY-MM-DDT'.length, to: 'YYYY-MM-DDThh:mm:ss.sss'.length }

/** `09:30:00.120  text.delta  {"delta":"hi"}`; the time is in UTC. */
export function eventText({ at, type, payload }: Event, paint: Paint): string {
  if (type === 'run.log') return `${timeText(at, paint)}  ${logText(payload as LogLine, paint)}`
  const { runId: _, ...members } = (payload ?? {}) as { readonly runId?: unknown }
  const rest = Object.keys(members).length === 0 ? '' : oneLine(JSON.stringify(members))
  return `${timeText(at, paint)}  ${paint('cyan', type.padEnd(18))}  ${rest}`.trimEnd().concat('\n')
}

type LogLine = Pick<InferOutput<typeof RunLogLine>, 'level' | 'message' | 'fields'>

const LEVEL_COLOURS: Readonly<Record<LogLine['level'], Colour>> = {
  debug: 'dim',
  info: 'bold',
  warn: 'yellow',
  error: 'red',
}

/** `09:30:00.120  warn   card declined  {"ticket":17}`; the time is in UTC. */
export const logLineText = (line: InferOutput<typeof RunLogLine>, paint: Paint): string =>
  `${timeText(line.at, paint)}  ${logText(line, paint)}`

function logText({ level, message, fields }: LogLine, paint: Paint): string {
  const rest = fields === undefined ? '' : `  ${paint('dim', oneLine(JSON.stringify(fields)))}`
  return `${paint(LEVEL_COLOURS[level] ?? 'bold', oneLine(level).padEnd(5))}  ${oneLine(message)}${rest}\n`
}

const timeText = (at: string, paint: Paint) => paint('dim', at.slice(TIME.from, TIME.to))
