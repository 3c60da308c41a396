import { generateText, stepCountIs, tool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { scriptedModel } from '../testing.ts'
import { type DurableToolCall, toolCallOf } from './tool-call.ts'

it('names the call by the id of the SDK outside of a run', async () => {
  const seen: [string, DurableToolCall][] = []
  const look = tool({
    inputSchema: z.object({}),
    execute: (_, options) => void seen.push([options.toolCallId, toolCallOf(options)]),
  })
  const model = scriptedModel([[{ toolName: 'look', input: {} }], 'Red.'])

  await generateText({ model, tools: { look }, prompt: 'Which colour?', stopWhen: stepCountIs(2) })

  const [[toolCallId, call] = []] = seen
  expect(toolCallId).toEqual(expect.any(String))
  expect(call).toEqual({ idempotencyKey: toolCallId })
})
