import type { AgentRegistry, PhaseHolder, WorkflowRegistry } from '@berth/core'
import { StartError, type Storage } from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'
import { type Adapters, createPlatform, openStorage, type Platform } from './adapters.ts'
import type { BerthServer } from './berth-server.ts'
import { type Composition, compose } from './compose.ts'
import type { Hooks } from './config.ts'
import { startIdempotencySweep } from './idempotency-sweep.ts'
import { type Listener, listen } from './listener.ts'
import { validateBeforeBind } from './pre-bind.ts'

export interface LifecycleParts {
  readonly config: ServerConfig
  readonly agents: AgentRegistry
  readonly workflows: WorkflowRegistry
  readonly phase: PhaseHolder
  readonly hooks: Hooks
  readonly given: Partial<Adapters>
  readonly configDir: string
}

/** What is open, in the order it was opened; undone from the end. */
type Undo = () => void | Promise<void>

const STREAM_GRACE_MS = 500
const LISTENER_GRACE_MS = 2_000

/** The start and stop order of a server. */
export function createLifecycle(parts: LifecycleParts): Omit<BerthServer, 'agents' | 'workflows'> {
  const { config, phase, hooks, given, configDir } = parts
  const platform = createPlatform(config, configDir, given)
  const { promise: fatal, resolve: onFatal } = Promise.withResolvers<unknown>()
  let undo: Undo[] = []
  let running: Composition | undefined
  let starting: Promise<Listener> | undefined
  let stopping: Promise<void> | undefined
  let isForced = false

  const undoAll = async () => {
    const steps = undo.reverse()
    undo = []
    for (const step of steps) await step()
  }

  const open = async () => {
    await runHook('hook-failed', hooks.beforeStart)
    const secrets = await validateBeforeBind(config, platform)
    const storage = given.storage ?? (await openOwnStorage(platform))
    const composition = compose({ ...parts, secrets, adapters: { ...platform, storage } })
    const recovered = await composition.engine.recover()
    if (recovered.interrupted + recovered.requeued > 0) platform.logger.warn('runs recovered', { ...recovered })

    const listener = await listen(composition.app.fetch, config.server)
    undo.push(() => closeListener(listener))
    await composition.engine.start()
    undo.push(startIdempotencySweep({ ...platform, unitOfWork: storage.unitOfWork }))
    running = composition
    phase.enter('ready')
    await hooks.onReady?.()
    return listener
  }

  const openOwnStorage = async ({ logger }: Platform): Promise<Storage> => {
    const storage = await openStorage(config, configDir, (error) => {
      logger.error('the storage failed', error)
      onFatal(error)
    })
    undo.push(() => storage.close())
    return storage
  }

  const closeListener = (listener: Listener) => listener.close(isForced ? 0 : LISTENER_GRACE_MS)

  const shutDown = async () => {
    await starting?.catch(() => undefined)
    try {
      await hooks.beforeShutdown?.()
    } catch (error) {
      platform.logger.error('the beforeShutdown hook threw', error)
    }
    phase.enter('draining')
    if (running !== undefined) await drain(running)
    await undoAll()
    phase.enter('stopped')
  }

  const drain = async ({ engine, streams }: Composition) => {
    const deadline = () => (isForced ? 0 : config.server.shutdown.drainTimeoutMs)
    await Promise.race([engine.drain(deadline()), forced.promise])
    await engine.release()
    await Promise.race([streams.closeAll(), delay(STREAM_GRACE_MS)])
  }

  const forced = Promise.withResolvers<void>()
  const delay = (ms: number) => new Promise<void>((resolve) => platform.timers.after(ms, resolve))

  return {
    fatal,
    async check() {
      await validateBeforeBind(config, platform)
    },
    async start() {
      starting ??= open()
      try {
        const { host, port } = await starting
        return { host, port, basePath: config.server.basePath }
      } catch (error) {
        isForced = true
        phase.enter('draining')
        if (running !== undefined) await drain(running)
        await undoAll()
        throw error
      }
    },
    async stop({ force = false } = {}) {
      if (force) {
        isForced = true
        forced.resolve()
      }
      stopping ??= shutDown()
      await stopping
    },
  }
}

async function runHook(kind: 'hook-failed', hook: Hooks['beforeStart']): Promise<void> {
  try {
    await hook?.()
  } catch (cause) {
    const message = `the beforeStart hook threw: ${cause instanceof Error ? cause.message : String(cause)}`
    throw cause instanceof StartError
      ? cause
      : new StartError(kind, { message, hint: 'fix the hook in the configuration', cause })
  }
}
