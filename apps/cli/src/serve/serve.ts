import type { Logger } from '@perdure/ports'
import type { PerdureServer } from '@perdure/server-app'
import { EXIT_CODES } from '../exit-codes.ts'
import type { Interruption, Interruptions } from '../terminal.ts'

export type Listening = Awaited<ReturnType<PerdureServer['start']>>

export interface ServeOptions {
  readonly interruptions: Interruptions
  readonly log: Logger
  /** Runs once the server answers; when it fails, the server stops and the failure is the command's. */
  onListening(listening: Listening): void | Promise<void>
}

type Served = Omit<PerdureServer, 'agents' | 'workflows'>

/** Why a server that was started comes to its end. */
type End = Interruption | { readonly type: 'storage-fault'; readonly error: unknown }

const FORCED_STOP_MS = 1_500

/**
 * Starts the server and answers the exit code once it has stopped. The first signal drains, a second one ends it
 * within two seconds; a storage fault (exit code 70) or a crash (1) stops it without draining.
 *
 * @throws StartError when the start is refused
 */
export async function serve(server: Served, options: ServeOptions): Promise<number> {
  const { interruptions, log } = options
  const failed = server.fatal.then((error): End => ({ type: 'storage-fault', error }))
  const started = server.start()
  const announced = started.then((listening) => announce(server, options, listening))
  const first = await Promise.race([announced, failed, interruptions.next()])
  if (first.type !== 'signal') return stopBroken(server, log, first)

  log.info('stopping', { signal: first.signal })
  const second = await Promise.race([server.stop(), announced, failed, interruptions.next()])
  if (second === undefined) return EXIT_CODES.ok.code
  if (second.type !== 'signal') return stopBroken(server, log, second)
  log.warn('stopping at once', { signal: second.signal })
  await forceStop(server, log)
  return second.signal === 'SIGINT' ? EXIT_CODES.interrupted.code : EXIT_CODES.failed.code
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

async function stopBroken(
  server: Pick<PerdureServer, 'stop'>,
  log: Logger,
  { type, error }: Exclude<End, { type: 'signal' }>,
): Promise<number> {
  log.error('stopping after a fault that leaves the state of this process in doubt', error)
  await forceStop(server, log)
  return type === 'storage-fault' ? EXIT_CODES.storageFault.code : EXIT_CODES.failed.code
}

/** Stops without draining, and gives up waiting for it after a while: what is committed is safe. */
async function forceStop(server: Pick<PerdureServer, 'stop'>, log: Logger): Promise<void> {
  const stopped = server.stop({ force: true }).catch((error: unknown) => log.error('stopping failed', error))
  const patience = new Promise<void>((resolve) => setTimeout(resolve, FORCED_STOP_MS).unref())
  await Promise.race([stopped, patience])
}
