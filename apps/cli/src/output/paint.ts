import { styleText } from 'node:util'
import type { TextSink } from '../terminal.ts'

export type Colour = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold'

/** Colours a text, or returns it unchanged. */
export type Paint = (colour: Colour, text: string) => string

type Env = Readonly<Record<string, string | undefined>>

/** `FORCE_COLOR` takes precedence over `--no-color` and `NO_COLOR`; without them, only a terminal gets colours. */
export function painter(env: Env, sink: TextSink, isWanted = true): Paint {
  return isColoured(env, sink, isWanted)
    ? (colour, text) => styleText(colour, text, { validateStream: false })
    : (_, text) => text
}

function isColoured({ FORCE_COLOR, NO_COLOR, TERM }: Env, { isTTY }: TextSink, isWanted: boolean): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  if (!isWanted || (NO_COLOR !== undefined && NO_COLOR !== '')) return false
  return isTTY === true && TERM !== 'dumb'
}

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  ok: 'green',
  active: 'green',
  allowed: 'green',
  completed: 'green',
  approved: 'green',
  connected: 'green',
  ready: 'green',
  running: 'cyan',
  queued: 'cyan',
  pending: 'yellow',
  suspended: 'yellow',
  degraded: 'yellow',
  warn: 'yellow',
  aborted: 'yellow',
  expired: 'yellow',
  denied: 'red',
  failed: 'red',
  failing: 'red',
  fail: 'red',
}

export const statusColour = (status: string): Colour | undefined => STATUS_COLOURS[status]
