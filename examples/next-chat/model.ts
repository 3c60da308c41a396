import { type ScriptedCall, scriptedModel } from 'perdure/ai-sdk/testing'
import { z } from 'zod'

const Order = z.object({ orderId: z.string(), what: z.string(), price: z.number() })
const Refund = z.object({ refunded: z.number() })

/** The newest order and photo of the chat. */
function knownFrom({ prompt }: ScriptedCall) {
  const parts = prompt.flatMap(({ role, content }) => (role === 'user' && Array.isArray(content) ? content : []))
  const texts = parts.flatMap((part) => (part.type === 'text' ? [String(part.text)] : []))
  const orderId = texts.flatMap((text) => text.match(/A-\d+/g) ?? []).at(-1)
  return { orderId, photo: parts.findLast((part) => part.type === 'file') }
}

// A script in place of a model: finds the order, asks for a photo, and refunds what the order has cost.
// To use a real model: npm install @ai-sdk/openai, then export const model = openai('gpt-5-mini')
export const model = scriptedModel(
  (call) => {
    const { orderId, photo } = knownFrom(call)
    const [found, refunded] = call.toolResults
    if (orderId === undefined) return 'Which order is it? Write something like "refund A-17".'
    if (found === undefined) return { toolName: 'lookUpOrder', input: { orderId } }
    const { what, price } = Order.parse(found.output)
    if (photo === undefined) return `Order ${orderId} is ${what}. Please attach a photo of it.`
    if (refunded === undefined)
      return [{ text: 'I can see the damage. ' }, { toolName: 'refund', input: { orderId, amount: price } }]
    const paid = Refund.safeParse(refunded.output)
    return paid.success ? `You get ${paid.data.refunded} back.` : 'A colleague has decided against the refund.'
  },
  { wordDelayMs: 40 },
)
