import type { ModelMessage } from 'ai'
import type { FindRun } from '../run.ts'
import { plainFailure } from '../tools/failure-text.ts'
import type { Compaction } from './compaction.ts'
import { linkerOf } from './linked-files.ts'
import { toModelMessages } from './model-messages.ts'
import { readerOf } from './read-file.ts'

/** Messages that came while the agent worked, and the length of the prompt before them. */
interface Received {
  readonly at: number
  readonly messages: readonly ModelMessage[]
}

/** A compacted prompt, and how many messages of the SDK it stands for. */
interface Base {
  readonly at: number
  readonly messages: readonly ModelMessage[]
}

export interface StepPromptOptions {
  readonly find: FindRun
  readonly compaction: Compaction | undefined
}

/**
 * The prompts of the steps of one call of the SDK. A message that steers the call is handed to the model once, before its next
 * answer, and stays at the same position in the prompts of all later steps. A prompt that has become too long is compacted.
 */
export function createStepPrompt({ find, compaction }: StepPromptOptions) {
  let base: Base = { at: 0, messages: [] }
  let received: Received[] = []
  /** What the prompts have besides the messages of the SDK. Version 7 keeps it in the prompt of the next step, version 6 does not. */
  const added = new Set<ModelMessage>()

  const add = <T extends Received | Base>(one: T): T => {
    for (const message of one.messages) added.add(message)
    return one
  }

  /** The messages of the SDK after those for which the compacted prompt stands. */
  const ownOf = (given: readonly ModelMessage[]): readonly ModelMessage[] => {
    const isKept = base.messages[0] !== undefined && given.includes(base.messages[0])
    const own = given.filter((message) => !added.has(message))
    return isKept ? own : own.slice(base.at)
  }

  const compose = (own: readonly ModelMessage[]): readonly ModelMessage[] => {
    const prompt = [...base.messages]
    let from = 0
    for (const { at, messages } of received) {
      prompt.push(...own.slice(from, at), ...messages)
      from = at
    }
    return [...prompt, ...own.slice(from)]
  }

  return {
    /** The prompt of a step; `undefined` if it is the one of the SDK. */
    async of(given: readonly ModelMessage[], usedTokens?: number): Promise<ModelMessage[] | undefined> {
      const { ctx, isInsideCall } = find()
      const own = ownOf(given)
      const taken = isInsideCall ? [] : ((await ctx.session?.takeMessages({ steering: true })) ?? [])
      if (taken.length > 0) {
        const converting = {
          ...{
            tools: {},
            convertDataPart: undefined,
            readFile: readerOf(ctx),
            linkTo: linkerOf(ctx),
            failureText: plainFailure,
          },
        }
        received.push(add({ at: own.length, messages: await toModelMessages(taken, converting) }))
      }
      const prompt = compose(own)
      const shorter = isInsideCall ? undefined : await compaction?.compacted(prompt, usedTokens)
      if (shorter !== undefined) {
        base = add({ at: base.at + own.length, messages: shorter })
        received = []
        return [...shorter]
      }
      return added.size === 0 ? undefined : [...prompt]
    },
  }
}

export type StepPrompt = ReturnType<typeof createStepPrompt>
