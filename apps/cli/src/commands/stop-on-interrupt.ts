import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'

/** Follows something that cannot be cancelled: Ctrl-C stops following, with exit code 130. */
export async function stopOnInterrupt(call: Call, follow: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruptions = call.terminal.watchInterruptions(() => false)
  const stopping = new AbortController()
  const stopped = interruptions.next().then((interruption) => {
    if (interruption.type === 'crash') throw interruption.error
    call.finish(EXIT_CODES.interrupted.code)
    stopping.abort()
  })
  await Promise.race([follow(stopping.signal), stopped])
}
