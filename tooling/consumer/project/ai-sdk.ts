// Type-checked in strict mode against the package declarations; never run.
import { agentOf, chatAgent, durable, toolOptions } from '@perdure/ai-sdk'
import { scriptedModel } from '@perdure/ai-sdk/testing'

export const support = chatAgent({ id: 'support', model: scriptedModel([{ text: 'Hello' }]) })
export const used = [agentOf, durable, toolOptions]
