import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { statusColour } from '../output/paint.ts'

export interface HealthFlags {
  readonly probe?: 'live' | 'ready'
}

/**
 * Needs no token. A degraded server still works and exits 0; a failing one, or one that accepts no new runs, exits 5.
 */
export async function healthCommand(call: Call, { probe }: HealthFlags): Promise<void> {
  const { health } = call.client()
  const document =
    probe === 'live' ? await health.live() : probe === 'ready' ? await health.ready() : await health.get()
  const { status } = document
  call.out.document(document, (paint) => {
    const line = (name: string, text: string, message = '') =>
      `${name.padEnd(13)} ${paint(statusColour(text) ?? 'bold', text.padEnd(8))} ${message}`.trimEnd()
    const checks = 'checks' in document ? Object.entries(document.checks) : []
    return `${[line('status', status), ...checks.map(([name, check]) => line(name, check.status, check.message))].join('\n')}\n`
  })
  if (!['ok', 'degraded', 'ready'].includes(status)) call.finish(EXIT_CODES.problem.code)
}
