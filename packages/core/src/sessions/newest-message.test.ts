import { EVERY_ROW, type JsonText } from '@perdure/ports'
import { aChat, aMessage, aSession } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, agentOf, gate, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { createSessionWorld } from './sessions.fixture.ts'

/** A chat whose first turn works, so that further messages wait. */
async function busyChat() {
  const work = gate()
  const code = async (input: unknown, { text }: RunContext) => {
    await work.promise
    if (input !== 'say') return 'done'
    for (const word of ['Good ', 'morning.']) text(word)
    return null
  }
  const world = createSessionWorld({ agents: [agentOf('chat', code, { concurrency: 'session', onBusy: 'queue' })] })
  const { storage, clock } = world
  const sessionId = 'ada'
  await storage.unitOfWork.commit([
    { type: 'session.insert', session: aSession({ id: sessionId }) },
    { type: 'chat.insert', chat: aChat({ sessionId, agentId: 'chat' }) },
  ])
  const send = async (input: string) => {
    const reply = await world.run('chat', { body: { input, sessionId }, answer: 'accepted' })
    await untilIdle(clock)
    return outcomeOf(reply).runId
  }
  const last = async () => {
    const chat = await storage.chats.find(sessionId, EVERY_ROW)
    return [chat?.lastMessage?.text, chat?.lastSeq]
  }
  const release = async () => {
    work.resolve()
    await untilIdle(clock)
  }
  const asked = (runId: string) => ({ runId, principal: ALICE, visibility: EVERY_ROW }) as const
  return { ...world, send, last, release, asked }
}

describe('the newest message in a list of chats', () => {
  it('is shown as it was edited', async () => {
    const { send, last, editMessage, asked } = await busyChat()
    await send('one')
    const second = await send('two')
    expect(await last()).toEqual(['two', 2])

    await editMessage({ ...asked(second), input: 'edited' })

    expect(await last()).toEqual(['edited', 2])
  })

  it('is the one before it after it was withdrawn, without those that were withdrawn earlier', async () => {
    const { send, last, withdrawMessage, asked, release } = await busyChat()
    await send('one')
    const [second, third] = [await send('two'), await send('three')]
    await withdrawMessage(asked(second))
    expect(await last()).toEqual(['three', 3])

    await withdrawMessage(asked(third))
    expect(await last()).toEqual(['one', 1])

    await release()
    expect(await last()).toEqual(['done', 4])
  })

  it('is what the agent has said, if it returns nothing', async () => {
    const { send, last, release } = await busyChat()
    await send('say')
    await release()

    expect(await last()).toEqual(['Good morning.', 2])
  })

  it('stays when an earlier message is edited, or another one of the same session is newer', async () => {
    const { send, last, editMessage, withdrawMessage, asked, storage } = await busyChat()
    await send('one')
    const [second, third] = [await send('two'), await send('three')]
    await editMessage({ ...asked(second), input: 'edited' })
    expect(await last()).toEqual(['three', 3])

    const message = aMessage({ id: 'm', sessionId: 'ada', content: '"by a tool"' as JsonText })
    await storage.unitOfWork.commit([{ type: 'message.append', message }])
    await editMessage({ ...asked(third), input: 'four' })
    expect(await last()).toEqual(['four', 3])
    await withdrawMessage(asked(third))
    expect(await last()).toEqual(['edited', 2])
  })
})
