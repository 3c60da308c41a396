import { ToolLoopAgent, tool } from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { chatAgent } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { scriptedModel } from './testing.ts'

const untilAborted = (signal: AbortSignal | undefined, begun: () => void) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason))
    begun()
  })

/** Settings of agents that wait until they are aborted. */
const MOMENTS = {
  'a tool works': (begun: () => void) => ({
    model: scriptedModel([{ toolName: 'slow', input: {} }, 'Done']),
    tools: {
      slow: tool({
        inputSchema: z.object({}),
        execute: (_, { abortSignal }): Promise<string> => untilAborted(abortSignal, begun),
      }),
    },
  }),
  'the model is asked': (begun: () => void) => ({
    model: Object.assign(scriptedModel(['Done']), {
      doStream: ({ abortSignal }: { readonly abortSignal?: AbortSignal }) => untilAborted(abortSignal, begun),
    }),
  }),
}

type SettingsOf = (typeof MOMENTS)[keyof typeof MOMENTS]

/** How often the SDK alone calls `onAbort`. */
async function callsAlone(settingsOf: SettingsOf): Promise<number> {
  const [begun, ending, onAbort] = [Promise.withResolvers<void>(), new AbortController(), vi.fn()]
  const settings = { ...settingsOf(begun.resolve), onAbort, onError: () => undefined }
  const agent: ToolLoopAgent = new ToolLoopAgent(settings as never)
  const streamed = await agent.stream({ prompt: 'Hi', abortSignal: ending.signal })
  const reading = streamed.consumeStream({ onError: () => undefined })
  await begun.promise
  ending.abort()
  await reading
  return onAbort.mock.calls.length
}

describe('onAbort', () => {
  it.each(Object.entries(MOMENTS))(
    'is called as by the SDK alone when the run is aborted while %s',
    async (_, settingsOf) => {
      const [begun, onAbort] = [Promise.withResolvers<void>(), vi.fn()]
      const agent = chatAgent({ id: 'clock', ...settingsOf(begun.resolve), onAbort } as never)
      const { chat, get, stop } = await serverWith([agent])
      const answer = chat('clock', { id: 'c1', messages: [userMessage('m1', 'Hi')] })
      await begun.promise
      await get('/agents/clock/chat/c1/stop', {})
      await answer
      const { items } = await get<{ readonly items: readonly { readonly status: string }[] }>('/runs')
      expect(items).toMatchObject([{ status: 'aborted' }])
      await stop()

      expect(onAbort.mock.calls).toEqual(
        Array.from({ length: await callsAlone(settingsOf) }, () => [expect.anything()]),
      )
    },
  )
})
