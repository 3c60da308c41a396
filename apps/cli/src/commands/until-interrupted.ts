import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'

/**
 * Follows a run. The first Ctrl-C cancels it and goes on following until it has ended; the second one leaves. Either way the
 * exit code is 130. @returns what `follow` came to; `undefined` when it was left
 */
export async function untilInterrupted<Result>(
  call: Call,
  runId: string,
  follow: () => Promise<Result>,
): Promise<Followed<Result> | undefined> {
  let isInterrupted = false
  const left = leave(call, runId, () => {
    isInterrupted = true
  })
  const ended = await Promise.race([follow().then((result) => ({ result })), left])
  return ended === undefined ? undefined : { ...ended, isInterrupted }
}

export interface Followed<Result> {
  readonly result: Result
  /** The run was cancelled from here: the exit code is set. */
  readonly isInterrupted: boolean
}

async function leave(call: Call, runId: string, onFirst: () => void): Promise<undefined> {
  const interruptions = call.terminal.watchInterruptions(() => false)
  const first = await interruptions.next()
  if (first.type === 'crash') throw first.error
  onFirst()
  call.finish(EXIT_CODES.interrupted.code)
  call.out.note(`cancelling ${runId}; once more leaves it alone`)
  const cancelled = call.client().runs.abort(runId, { reason: 'interrupted' })
  // A run that has just ended by itself is not to be cancelled, and no failure.
  cancelled.catch((error: unknown) =>
    call.out.note(`cancelling failed: ${error instanceof Error ? error.message : error}`),
  )
  const second = await interruptions.next()
  if (second.type === 'crash') throw second.error
  call.out.note(`left ${runId}`)
}

/** Follows something that cannot be cancelled: Ctrl-C ends it, with exit code 130. */
export async function untilLeft(call: Call, follow: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruptions = call.terminal.watchInterruptions(() => false)
  const leaving = new AbortController()
  const left = interruptions.next().then((interruption) => {
    if (interruption.type === 'crash') throw interruption.error
    call.finish(EXIT_CODES.interrupted.code)
    leaving.abort()
  })
  await Promise.race([follow(leaving.signal), left])
}
