import { type ScriptedAnswer, type ScriptedCall, scriptedModel } from 'perdure/ai-sdk/testing'

interface Order {
  readonly late?: boolean
  readonly unknown?: boolean
}

/** Stands for a real model, so that the example needs no key: it does what the prompt says. */
function answer({ text, toolResults, prompt }: ScriptedCall): ScriptedAnswer {
  const [order] = /A-\d+/.exec(text) ?? []
  if (order === undefined) return 'Which order is it? The number is in the mail that we sent you.'
  const [found, refunded] = toolResults
  if (found === undefined) return { toolName: 'lookUp', input: { order } }
  const { late, unknown } = found.output as Order
  if (unknown === true) return `I cannot find the order ${order}.`
  if (refunded !== undefined) return refunded.toolName === 'refund' ? refundText(order, refunded.output) : 'Done.'
  const isStrict = JSON.stringify(prompt[0]).includes('late orders only')
  if (/money|refund/i.test(text) && (late === true || !isStrict)) return { toolName: 'refund', input: { order } }
  return late === true
    ? `The order ${order} is late. I am sorry.`
    : `The order ${order} is on time, so there is no refund.`
}

const refundText = (order: string, output: unknown): string =>
  typeof output === 'object' && output !== null && 'refunded' in output
    ? `You get your money for ${order} back.`
    : `A colleague decided against a refund for ${order}.`

export const model = scriptedModel(answer)
