import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'

const POLL_MS = 200

export async function webhooksTestCommand(call: Call, { webhook: id }: { readonly webhook: string }): Promise<void> {
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
