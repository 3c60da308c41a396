import type { ModelMessage } from 'ai'
import type { FindRun } from '../run.ts'
import { toModelMessages } from './model-messages.ts'
import { readerOf } from './read-file.ts'

/** Messages that came while the agent worked, and the length of the prompt before them. */
interface Received {
  readonly at: number
  readonly messages: readonly ModelMessage[]
}

/**
 * The messages that steer one call of the SDK. Each is handed to the model once, before its next answer, and stays at the
 * same position in the prompts of all later steps.
 */
export function createSteering(find: FindRun) {
  const all: Received[] = []

  return {
    /** The prompt of a step with the messages that came since. `undefined` if there never were any. */
    async promptOf(given: readonly ModelMessage[]): Promise<ModelMessage[] | undefined> {
      const { ctx, isInsideCall } = find()
      const isOwn = new Set(all.flatMap(({ messages }) => messages))
      // Version 7 keeps them in the prompt of the next step, version 6 does not.
      const own = given.filter((message) => !isOwn.has(message))
      const taken = isInsideCall ? [] : ((await ctx.session?.takeMessages({ steering: true })) ?? [])
      if (taken.length > 0) {
        all.push({
          at: own.length,
          messages: await toModelMessages(taken, { tools: {}, convertDataPart: undefined, readFile: readerOf(ctx) }),
        })
      }
      if (all.length === 0) return undefined
      const prompt: ModelMessage[] = []
      let from = 0
      for (const { at, messages } of all) {
        prompt.push(...own.slice(from, at), ...messages)
        from = at
      }
      return [...prompt, ...own.slice(from)]
    },
  }
}

export type Steering = ReturnType<typeof createSteering>
