import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { relativeText } from '../output/time-text.ts'
import { readInput } from './read-input.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

interface HookFlags {
  readonly hook: string
}

interface DeliveryFlags extends HookFlags {
  readonly delivery: string
}

type HookDeliveryStatus = 'accepted' | 'ignored' | 'dead'

export async function hooksListCommand(call: Call, flags: PageFlags): Promise<void> {
  const page = await readPage(call.client().hooks.list(pageQuery(flags)), flags)
  call.out.list(page, [
    { head: 'HOOK', cell: ({ id }) => id, isId: true },
    { head: 'VERIFY', cell: ({ verify }) => verify },
    { head: 'SECRETS', cell: ({ secrets }) => secrets },
    { head: 'TO', cell: ({ to }) => to?.agentId ?? to?.workflowId ?? to?.event },
    { head: 'PATH', cell: ({ path }) => path },
  ])
}

export async function hooksDeliveriesCommand(
  call: Call,
  { hook, status, ...flags }: HookFlags & PageFlags & { readonly status?: HookDeliveryStatus },
): Promise<void> {
  const now = Date.now()
  const page = await readPage(call.client().hooks.deliveries(hook, { ...pageQuery(flags), status }), flags)
  call.out.list(page, [
    { head: 'DELIVERY', cell: ({ id }) => id, isId: true },
    { head: 'SENDER ID', cell: ({ deliveryId }) => deliveryId },
    { head: 'STATUS', cell: (delivery) => delivery.status, isStatus: true },
    { head: 'REPLAYS', cell: ({ replays }) => replays },
    { head: 'RECEIVED', cell: ({ receivedAt }) => relativeText(receivedAt, now) },
    { head: 'REASON', cell: ({ reason }) => reason },
  ])
}

export async function hooksShowCommand(call: Call, { hook, delivery: id }: DeliveryFlags): Promise<void> {
  const delivery = await call.client().hooks.delivery(hook, id)
  call.out.document(delivery, () => {
    const headers = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${value}`)
    return [statusText(delivery), '', ...headers, '', delivery.body, ''].join('\n')
  })
}

export async function hooksReplayCommand(call: Call, { hook, delivery: id }: DeliveryFlags): Promise<void> {
  const delivery = await call.client().hooks.replay(hook, id)
  call.out.document(delivery, () => `${statusText(delivery)}\n`)
  if (delivery.status === 'dead') call.finish(EXIT_CODES.problem.code)
}

export async function hooksTestCommand(
  call: Call,
  { hook, body, header }: HookFlags & { readonly body?: string; readonly header?: Readonly<Record<string, string>> },
): Promise<void> {
  const sample = await readInput(call.terminal, 'body', body)
  const result = await call.client().hooks.test(hook, {
    ...(sample === undefined ? {} : { body: sample }),
    ...(header === undefined ? {} : { headers: header }),
  })
  call.out.document(result, () => `${statusText(result)}\n`)
  if (result.status === 'dead') call.finish(EXIT_CODES.problem.code)
}

interface Outcome {
  readonly id: string
  readonly status: string
  readonly reason?: string | undefined
  readonly event?: string | undefined
  readonly fireIds: readonly string[]
}

function statusText({ id, status, reason, event, fireIds }: Outcome): string {
  const effects = [...fireIds.map((fireId) => `fire ${fireId}`), ...(event === undefined ? [] : [`event ${event}`])]
  return [`${id} ${status}`, reason, effects.join(', ')].filter(Boolean).join(': ')
}
