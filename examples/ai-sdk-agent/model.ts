import { scriptedModel } from 'perdure/ai-sdk/testing'
import { z } from 'zod'

const Weather = z.object({ city: z.string(), celsius: z.number() })

// A script in place of a model: calls the weather tool once, then answers with its result.
// To use a real model: npm install @ai-sdk/openai, then export const model = openai('gpt-5-mini')
export const model = scriptedModel(({ toolResults: [result] }) => {
  if (result === undefined) return { toolName: 'weather', input: { city: 'Oslo' } }
  const { city, celsius } = Weather.parse(result.output)
  return `In ${city} it is ${celsius} degrees.`
})
