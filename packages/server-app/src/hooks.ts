import { StartError } from '@perdure/ports'
import type { EmbeddedServer } from './embedding/entry.ts'

export interface Hooks {
  /** Runs first. Throwing aborts the start. */
  readonly beforeStart?: () => void | Promise<void>
  /** Runs once the server answers requests, with the server. Throwing stops the server and fails the start. */
  readonly onReady?: (server: EmbeddedServer) => void | Promise<void>
  /** Runs first when the server stops, for at most five seconds. */
  readonly beforeShutdown?: () => void | Promise<void>
}

/** @throws StartError `hook-failed`, or the StartError that the hook throws */
export async function runStartHook(
  hooks: Hooks,
  name: 'beforeStart' | 'onReady',
  server: EmbeddedServer,
): Promise<void> {
  try {
    await hooks[name]?.(server)
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StartError('hook-failed', {
      message: `the ${name} hook threw: ${reason}`,
      hint: `fix hooks.${name} in the configuration`,
      cause,
    })
  }
}
