import { createInMemoryStorage } from '@perdure/in-memory'
import { tool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { cutAfter } from './cut-storage.fixture.ts'
import { chatAgent, toolOptions } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { scriptedModel } from './testing.ts'

interface Message {
  readonly role: string
  readonly parts: readonly Readonly<Record<string, unknown>>[]
}

interface Page {
  readonly items: readonly { readonly id: string }[]
}

const ASKED = [{ toolCallId: 'call-1', toolName: 'pay', input: {} }]

it('shows a tool that must not run again after a crash as failed, not as denied', async () => {
  const storage = createInMemoryStorage()
  const dying = cutAfter(storage, Number.POSITIVE_INFINITY)
  const { promise: paying, resolve: pays } = Promise.withResolvers<void>()
  const execute = () => {
    pays()
    return new Promise<string>(() => undefined)
  }
  const pay = toolOptions(tool({ inputSchema: z.object({}), execute }), { onCrash: 'ask' })
  const model = scriptedModel([ASKED, 'I do not know.'])
  const agent = chatAgent({ id: 'bank', model, tools: { pay }, onCrash: 'retry' })
  const first = await serverWith([agent], dying.storage)
  const chat = { id: 'c-1', messages: [userMessage('m-1', 'Pay')] }
  void first.chat('bank', chat).catch(() => undefined)
  await paying
  dying.endAfter(0)
  const second = await serverWith([agent], storage)

  const open = async () => (await second.get<Page>('/approvals?status=pending')).items
  await expect.poll(open).toHaveLength(1)
  const [question] = await open()
  await second.get(`/approvals/${question?.id}/resolve`, { approved: false, reason: 'it has paid' })

  const answer = async () => {
    const messages = await second.get<readonly Message[]>('/agents/bank/chat/c-1/messages')
    return messages.at(-1)?.parts
  }
  await expect.poll(answer).toContainEqual(expect.objectContaining({ type: 'text', text: 'I do not know.' }))
  expect((await answer())?.filter(({ type }) => type === 'tool-pay')).toMatchObject([
    { state: 'output-error', errorText: expect.stringContaining('An error occurred') },
  ])
})
