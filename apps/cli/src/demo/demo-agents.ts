import type { AgentRegistration } from '@perdure/core'
import { digestAgent } from './digest-agent.ts'
import { echoAgent } from './echo-agent.ts'

/** The agents of `--demo`, except those whose id is already registered. */
export const demoAgents = (baseDir: string, present: readonly AgentRegistration[]): readonly AgentRegistration[] =>
  [echoAgent, digestAgent({ baseDir })].filter(({ id }) => !present.some((registration) => registration?.id === id))
