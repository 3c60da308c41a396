import { isLeaseLost, type Logger } from '@perdure/ports'
import type { PerdureServer } from '@perdure/server-app'
import { EXIT_CODES } from '../exit-codes.ts'
import type { Interruption, Interruptions } from '../terminal.ts'

export type Listening = Awaited<ReturnType<PerdureServer['start']>>

export interface ServeOptions {
  readonly interruptions: Interruptions
  readonly log: Logger
  /** Called once the server listens. If it throws, the server stops and the command fails. */
  onListening(listening: Listening): void | Promise<void>
}

/** The part of a server that `serve` uses. */
export type Served = Pick<PerdureServer, 'start' | 'stop' | 'fatal' | 'attribute'>

/** Why a running server stops. */
type StopReason = Interruption | { readonly type: 'storage-fault'; readonly error: unknown }

const FORCED_STOP_MS = 1_500

/**
 * Starts the server and returns the exit code once it has stopped. The first signal drains the server, a second one
 * stops it within two seconds; a storage fault (exit code 70), the loss of its lease (75) or a crash (1) stops it without
 * draining.
 *
 * @throws StartError when the start is refused
 */
export async function serve(server: Served, options: ServeOptions): Promise<number> {
  const { interruptions, log } = options
  const failed = server.fatal.then((error): StopReason => ({ type: 'storage-fault', error }))
  const started = server.start()
  const announced = started.then((listening) => announce(server, options, listening))
  const first = await Promise.race([announced, failed, interruptions.next()])
  if (first.type !== 'signal') return stopAfterFault(server, log, first)

  log.info('stopping', { signal: first.signal })
  const ended = announced.catch(passOnUnlessAborted)
  const second = await Promise.race([server.stop(), ended, failed, interruptions.next()])
  if (second === undefined) return EXIT_CODES.ok.code
  if (second.type !== 'signal') return stopAfterFault(server, log, second)
  log.warn('stopping without drain after a second signal', { signal: second.signal })
  await forceStop(server, log)
  return second.signal === 'SIGINT' ? EXIT_CODES.interrupted.code : EXIT_CODES.failed.code
}

/** A start that the stop has ended is not a failure. */
const passOnUnlessAborted = (error: unknown): Promise<never> => {
  if (error instanceof Error && error.name === 'AbortError') return new Promise(() => undefined)
  throw error
}

async function announce(
  server: Pick<PerdureServer, 'stop'>,
  options: ServeOptions,
  listening: Listening,
): Promise<never> {
  try {
    await options.onListening(listening)
  } catch (error) {
    await forceStop(server, options.log)
    throw error
  }
  return new Promise(() => undefined)
}

async function stopAfterFault(
  server: Pick<PerdureServer, 'stop'>,
  log: Logger,
  { type, error }: Exclude<StopReason, { type: 'signal' }>,
): Promise<number> {
  const { message, exit } = FAULTS[type === 'storage-fault' && isLeaseLost(error) ? 'lease-lost' : type]
  log.error(message, error)
  await forceStop(server, log)
  return EXIT_CODES[exit].code
}

const FAULTS = {
  'storage-fault': { message: 'stopping after a storage fault', exit: 'storageFault' },
  'lease-lost': { message: 'stopping because other servers have taken over the work of this one', exit: 'takenOver' },
  crash: { message: 'stopping after an uncaught error', exit: 'failed' },
} as const

/** Stops without draining, and stops waiting after `FORCED_STOP_MS`: committed data is safe. */
async function forceStop(server: Pick<PerdureServer, 'stop'>, log: Logger): Promise<void> {
  const stopped = server.stop({ force: true }).catch((error: unknown) => log.error('stop failed', error))
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, FORCED_STOP_MS).unref())
  await Promise.race([stopped, timeout])
}
