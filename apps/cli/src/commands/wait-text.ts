import type { RunOutcome } from '@perdure/protocol'
import type { InferOutput } from 'valibot'

type Wait = NonNullable<InferOutput<typeof RunOutcome>['waitingFor']>[number]

/** Describes one thing that a suspended run waits for. */
export function waitText({ kind, name, ...code }: Wait): string {
  if (kind === 'code') return `code: ${missingCodeText(code)}`
  return name === undefined || name === kind ? kind : `${kind} ${name}`
}

/** Why the registered code cannot continue a run. */
export function missingCodeText({ version, seq, expected, found }: Partial<Wait>): string {
  if (version !== undefined) return `version ${version} is not registered`
  const made = found === undefined || found === null ? 'the code ends' : `the code calls ${found}`
  return `call ${seq} is recorded as ${expected}, but ${made}`
}
