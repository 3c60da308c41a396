import { createInMemoryStorage } from '@perdure/in-memory'
import {
  EVERY_ROW,
  noMeter,
  type Storage,
  toJsonText,
  type WebhookRequest,
  type WebhookResponse,
  type WebhookSender,
} from '@perdure/ports'
import { anEvent, aRun, createManualClock, createSequenceIds, type ManualClock } from '@perdure/testkit'
import { sealer as testSealer } from '../auth/token-use-cases.fixture.ts'
import { testDigest } from '../auth/tokens.fixture.ts'
import { commitOver } from '../commit/commit.fixture.ts'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createEmitter } from '../lifecycle/emitter.ts'
import { createRenderEnvelope } from '../realtime/envelope.ts'
import { createWebhooks } from './webhooks.ts'

export const ALICE = { subject: 'alice', scopes: ['webhooks:write', 'runs:read', 'approvals:read', 'triggers:read'] }
export const BY_ALICE = { principal: ALICE, visibility: EVERY_ROW } as const
export const URL = 'https://hooks.example/in'

export const DAY_MS = 86_400_000

/** A receiver: what it was sent, and how it answers. */
export interface Receiver {
  readonly requests: WebhookRequest[]
  answer: (request: WebhookRequest) => Promise<WebhookResponse> | WebhookResponse
}

export interface WorldOptions {
  readonly storage?: Storage
  readonly clock?: ManualClock
  readonly receiver?: Receiver
  readonly ids?: ReturnType<typeof createSequenceIds>
  readonly prefix?: string
}

export const createReceiver = (): Receiver => ({ requests: [], answer: () => ({ status: 204 }) })

/** The use cases of webhooks on the in-memory storage, with a receiver in place of the network. */
export function createWebhookWorld({
  storage = createInMemoryStorage({ epoch: 'e1' }),
  clock = createManualClock(),
  receiver = createReceiver(),
  ids = createSequenceIds(),
}: WorldOptions = {}) {
  const sender: WebhookSender = {
    refusalOf: (url) => (url.startsWith('https:') ? undefined : 'the URL must begin with https:'),
    async send(request) {
      receiver.requests.push(request)
      return receiver.answer(request)
    },
  }
  const deliveriesDue = createEmitter()
  const unitOfWork = commitOver(storage.unitOfWork, { onDeliveriesDue: deliveriesDue.emit })
  const webhooks = createWebhooks({
    deliveriesDue,
    ...{ ...storage, unitOfWork, clock, timers: clock, ids, digest: testDigest, sealer: testSealer },
    ...{ logger: silentLogger, meter: noMeter, render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }) },
    ...{
      basePath: '/v1',
      idempotencyTtlMs: DAY_MS,
      version: '1.2.3',
      timeoutMs: 15_000,
      retentionDays: 30,
      maxPerSubject: 3,
    },
    ...{
      isSealerDurable: true,
      isStorageShared: false,
      undeclaredMs: 3_600_000,
      sender,
      resolveSecret: async () => undefined,
    },
  })

  return {
    ...webhooks,
    storage,
    unitOfWork,
    clock,
    receiver,
    ids,
    /** Starts and ends a run of `agentId` in three commits. */
    async run(id: string, { owner = 'alice', agentId = 'echo', result = 'done' as unknown } = {}) {
      const topic = `agent:${agentId}/events`
      const run = aRun({ id, owner, targetId: agentId })
      await unitOfWork.commit([{ type: 'run.insert', run }])
      for (const [type, payload] of [
        ['run.started', { runId: id, status: 'running' }],
        ['text.delta', { delta: 'd' }],
        ['run.completed', { runId: id, status: 'completed', result }],
      ] as const) {
        const event = anEvent({ runId: id, topic, type, payload: toJsonText(payload), at: clock.now() })
        await unitOfWork.commit([{ type: 'event.append', events: [event] }])
      }
    },
    /** Lets timers fire and promises settle until nothing changes. */
    async settle(ms = 0) {
      clock.advance(ms)
      for (let turn = 0; turn < 40; turn++) {
        clock.advance(0)
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    },
  }
}

export const typesOf = ({ requests }: Receiver): string[] => requests.map(({ body }) => JSON.parse(body).type)
export const runsOf = ({ requests }: Receiver): string[] => requests.map(({ body }) => JSON.parse(body).data.runId)
export const eventIdsOf = ({ requests }: Receiver): string[] =>
  requests.map(({ headers }) => headers['webhook-id'] ?? '')
