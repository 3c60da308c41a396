// perdure.config.ts
import { defineConfig } from 'perdure'
import { agentOf } from 'perdure/ai-sdk'
import { supportAgent } from './support-agent.ts' // new ToolLoopAgent({ id: 'support', model, instructions, tools, stopWhen, … })

export default defineConfig({ agents: [agentOf(supportAgent)] })
