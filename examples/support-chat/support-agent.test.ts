import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { runAgent } from 'perdure/testing'
import { support } from './support-agent.ts'

const photo = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=' } as const
const asking = {
  messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Refund A-17' }, photo] }],
}

test('the agent asks for a photo', async () => {
  const { result } = await runAgent(support, { text: 'Refund A-17' })

  equal(result?.text, 'Order A-17 is a red scarf. Please attach a photo of it.')
})

test('a large refund waits for a person', async () => {
  const waiting = await runAgent(support, asking)
  deepEqual(
    waiting.approvals.map(({ title, payload }) => ({ title, payload })),
    [{ title: 'Refund the order', payload: { orderId: 'A-17', amount: 80 } }],
  )

  const { result } = await waiting.decide('refund', { approved: true })

  equal(result?.text, 'You get 80 back.')
})

test('a refund that is denied is not made', async () => {
  const waiting = await runAgent(support, asking)
  const { result } = await waiting.decide('refund', { approved: false, reason: 'worn for a year' })

  equal(result?.text, 'A colleague has decided against the refund.')
})
