import type { Event } from '@perdure/client'
import { oneLine } from './columns.ts'
import type { Paint } from './paint.ts'

const TIME = { from: 'YYYY-MM-DDT'.length, to: 'YYYY-MM-DDThh:mm:ss.sss'.length }

/** `09:30:00.120  text.delta  {"delta":"hi"}`; the time is in UTC. */
export function eventText({ at, type, payload }: Event, paint: Paint): string {
  const { runId: _, ...members } = (payload ?? {}) as { readonly runId?: unknown }
  const rest = Object.keys(members).length === 0 ? '' : oneLine(JSON.stringify(members))
  return `${paint('dim', at.slice(TIME.from, TIME.to))}  ${paint('cyan', type.padEnd(18))}  ${rest}`
    .trimEnd()
    .concat('\n')
}
