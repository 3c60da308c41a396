import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from '../call.ts'
import { parseDuration } from '../duration.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { relativeText } from '../output/time-text.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

interface WebhookFlags {
  readonly webhook: string
}

interface CreateFlags {
  readonly endpoint: string
  readonly id?: string
  readonly events?: string
  readonly targets?: string
  readonly owner?: string
}

type DeliveryStatus = 'pending' | 'delivered' | 'dead'

export async function webhooksListCommand(call: Call, flags: PageFlags): Promise<void> {
  const page = await readPage(call.client().webhooks.list(pageQuery(flags)), flags)
  call.out.list(page, [
    { head: 'WEBHOOK', cell: ({ id }) => id, isId: true },
    { head: 'ENABLED', cell: ({ enabled }) => (enabled ? 'yes' : 'no') },
    { head: 'EVENTS', cell: ({ events }) => events.join(' ') },
    { head: 'OWNER', cell: ({ owner }) => owner },
    { head: 'FROM', cell: ({ source }) => source },
    { head: 'URL', cell: ({ url }) => url },
  ])
}

export async function webhooksCreateCommand(call: Call, flags: CreateFlags): Promise<void> {
  const { endpoint: url, id, owner } = flags
  const filters = { events: listIn(flags.events), targets: listIn(flags.targets) }
  const webhook = await call.client().webhooks.create({ url, id, owner, ...filters })
  call.out.document(
    webhook,
    () => `created ${webhook.id}; verify its deliveries with this secret:\n${webhook.secret}\n`,
  )
}

const listIn = (text: string | undefined): string[] | undefined => text?.split(',').map((item) => item.trim())

export async function webhooksDeleteCommand(call: Call, { webhook: id }: WebhookFlags): Promise<void> {
  await call.client().webhooks.delete(id)
  call.out.document({ id, deleted: true }, () => `deleted ${id}\n`)
}

export async function webhooksEnableCommand(call: Call, { webhook: id }: WebhookFlags): Promise<void> {
  const webhook = await call.client().webhooks.enable(id)
  call.out.document(webhook, () => `enabled ${id}\n`)
}

export async function webhooksDisableCommand(call: Call, { webhook: id }: WebhookFlags): Promise<void> {
  const webhook = await call.client().webhooks.disable(id)
  call.out.document(webhook, () => `disabled ${id}\n`)
}

export async function webhooksRotateCommand(
  call: Call,
  { webhook: id, grace }: WebhookFlags & { readonly grace?: string },
): Promise<void> {
  const graceSeconds = grace === undefined ? undefined : Math.ceil(parseDuration('grace', grace) / 1_000)
  const webhook = await call.client().webhooks.rotate(id, { graceSeconds })
  call.out.document(webhook, () => `rotated the secret of ${id}:\n${webhook.secret}\n`)
}

const POLL_MS = 200

export async function webhooksTestCommand(call: Call, { webhook: id }: WebhookFlags): Promise<void> {
  const { webhooks } = call.client()
  let delivery = await webhooks.test(id)
  while (delivery.status === 'pending') {
    await sleep(POLL_MS)
    delivery = await webhooks.delivery(id, delivery.id)
  }
  const { status, responseStatus, error } = delivery
  const text = status === 'delivered' ? `delivered: the endpoint answered ${responseStatus}` : `not delivered: ${error}`
  call.out.document(delivery, () => `${text}\n`)
  if (status !== 'delivered') call.finish(EXIT_CODES.problem.code)
}

export async function webhooksDeliveriesCommand(
  call: Call,
  { webhook: id, status, ...flags }: WebhookFlags & PageFlags & { readonly status?: DeliveryStatus },
): Promise<void> {
  const now = Date.now()
  const page = await readPage(call.client().webhooks.deliveries(id, { ...pageQuery(flags), status }), flags)
  call.out.list(page, [
    { head: 'DELIVERY', cell: (delivery) => delivery.id, isId: true },
    { head: 'EVENT', cell: ({ type }) => type },
    { head: 'STATUS', cell: (delivery) => delivery.status, isStatus: true },
    { head: 'ATTEMPTS', cell: ({ attempts }) => attempts },
    { head: 'NEXT', cell: ({ nextAttemptAt }) => relativeText(nextAttemptAt, now) },
    { head: 'ERROR', cell: ({ error }) => error },
  ])
}

export async function webhooksRedeliverCommand(
  call: Call,
  { webhook: id, delivery: deliveryId }: WebhookFlags & { readonly delivery: string },
): Promise<void> {
  const delivery = await call.client().webhooks.redeliver(id, deliveryId)
  call.out.document(delivery, () => `queued ${delivery.id} to be sent again\n`)
}
