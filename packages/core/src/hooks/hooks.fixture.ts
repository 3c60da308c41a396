import { nodeDigest } from '@perdure/platform-node'
import type { HookVerifier, UnitOfWork } from '@perdure/ports'
import type { HookConfig } from '@perdure/protocol'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { targetsOf } from '../targets/target-registry.ts'
import { createTriggerServer, type ServerOptions } from '../triggers/triggers.fixture.ts'
import { type Hook, hookTriggers } from './hook.ts'
import { createHooks } from './hooks.ts'

/** Accepts requests whose header `x-signature` is one of the secrets; `x-challenge` asks for an answer. */
const verifier: HookVerifier = {
  headers: ['x-kind'],
  async verify({ header, secrets }) {
    if (!secrets.includes(header('x-signature') ?? '')) return { kind: 'refused', reason: 'the signature is wrong' }
    return { kind: 'verified', deliveryId: header('x-delivery'), challenge: header('x-challenge') }
  },
  sign: ({ deliveryId }, secret) => ({ 'x-signature': secret, 'x-delivery': deliveryId }),
}

export const aHook = (over: Partial<Hook> = {}): Hook => ({
  ...{ id: 'shop', verify: 'github', secretRefs: ['env:SHOP', 'env:OLD'], headers: [], verifier },
  to: { agent: 'echo' },
  ...over,
})

interface HookServerOptions extends ServerOptions {
  readonly hooks?: readonly Hook[]
  /** Replaces the secrets, by reference. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Wraps the storage that hooks write to. */
  readonly wrap?: (unitOfWork: UnitOfWork) => UnitOfWork
}

/** One server process with hooks, on a storage that may outlive it. */
export async function startHookServer(options: HookServerOptions = {}) {
  const { hooks = [aHook()], secrets = { 'env:SHOP': 'secret\n', 'env:OLD': 'old' }, wrap = (same) => same } = options
  const byId = new Map(hooks.map((hook) => [hook.id, hook]))
  const server = createTriggerServer({ ...options, knownHooks: byId })
  const { storage, clock, ids, meter, engine, triggers, agents, workflows } = server
  const { receiveHook, manageHooks } = createHooks({
    ...{ ...storage, unitOfWork: wrap(storage.unitOfWork), clock, ids, meter, digest: nodeDigest },
    targets: targetsOf(agents, workflows),
    ...{ logger: options.logger ?? silentLogger, hooks: byId },
    ...{ planEvent: engine.planEvent, fireHookTriggers: triggers.fireHookTriggers },
    ...{ resolveSecret: async (reference) => secrets[reference], basePath: '/v1', idempotencyTtlMs: 86_400_000 },
  })
  await triggers.declare(hookTriggers(hooks as readonly Pick<HookConfig, 'id' | 'to'>[]))
  await server.start()

  const receive = (body: unknown, headers: Readonly<Record<string, string | undefined>> = {}, hookId = 'shop') => {
    const all: Readonly<Record<string, string | undefined>> = {
      ...{ 'x-signature': 'secret', 'x-delivery': 'd-1', 'content-type': 'application/json' },
      ...headers,
    }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return receiveHook({
      hookId,
      header: (name) => all[name],
      readBody: async () => (body instanceof Uint8Array ? body : new TextEncoder().encode(text)),
    })
  }
  return {
    ...{ ...server, receiveHook, manageHooks, receive },
    deliveries: async (hookId = 'shop') =>
      (await storage.hookDeliveries.list({ hookId }, { limit: 200, order: 'asc' })).items,
  }
}
