import type { HookDeliveryStatus } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { cliError } from '../cli-error.ts'
import { isClientError } from '../client-error.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { oneLine } from '../output/columns.ts'
import { withoutControl } from '../output/output.ts'
import { relativeText } from '../output/time-text.ts'
import { readInput } from './read-input.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

interface HookFlags {
  readonly hook: string
}

interface DeliveryFlags extends HookFlags {
  readonly delivery: string
}

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
  const listed = call.client().hooks.deliveries(hook, { ...pageQuery(flags), status })
  const page = await namingHooks(call, hook, readPage(listed, flags))
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
  const delivery = await namingHooks(call, hook, call.client().hooks.delivery(hook, id))
  call.out.document(delivery, () => {
    const headers = Object.entries(delivery.headers).map(([name, value]) => oneLine(`${name}: ${value}`))
    return [statusText(delivery), '', ...headers, '', withoutControl(delivery.body), ''].join('\n')
  })
}

export async function hooksReplayCommand(call: Call, { hook, delivery: id }: DeliveryFlags): Promise<void> {
  const delivery = await namingHooks(call, hook, call.client().hooks.replay(hook, id))
  call.out.document(delivery, () => `${statusText(delivery)}\n`)
  if (delivery.status === 'dead') call.finish(EXIT_CODES.problem.code)
}

export async function hooksTestCommand(
  call: Call,
  { hook, body, header }: HookFlags & { readonly body?: string; readonly header?: Readonly<Record<string, string>> },
): Promise<void> {
  const sample = await readInput(call.terminal, 'body', body)
  const sent = call.client().hooks.test(hook, {
    ...(sample === undefined ? {} : { body: sample }),
    ...(header === undefined ? {} : { headers: header }),
  })
  const result = await namingHooks(call, hook, sent)
  call.out.document(result, () => `${statusText(result)}\n`)
  if (result.status === 'dead') call.finish(EXIT_CODES.problem.code)
}

const MAX_NAMED = 10

/** Adds the hooks that exist to the error for one that does not. */
async function namingHooks<Answer>(call: Call, hook: string, answer: PromiseLike<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    if (!isClientError(error) || error.code !== 'hook-not-found') throw error
    const { items } = await call.client().hooks.list({ limit: MAX_NAMED, order: 'asc' })
    const names = items.map(({ id }) => id).join(', ')
    throw cliError('hook-not-found', {
      message: `no hook ${hook}`,
      hint: names === '' ? 'add a hook to webhooks.in of the configuration' : `hooks: ${names}`,
      exit: 'failed',
    })
  }
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
  return oneLine([`${id} ${status}`, reason, effects.join(', ')].filter(Boolean).join(': '))
}
