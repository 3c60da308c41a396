import type { ServiceCaller } from '../durable/service-caller.ts'
import type { RunMcp } from '../mcp/run-mcp.ts'
import type { RunMemory } from '../memory/run-memory.ts'
import type { RunSession } from '../sessions/run-session.ts'
import type { RunSkills } from '../skills/run-skills.ts'

/** The services of the server for the code of a run; each one is created for the run by its own group. */
export interface RunServices {
  /** The session of the run; `undefined` for a run without one. */
  readonly session: RunSession | undefined
  readonly skills: RunSkills
  readonly mcp: RunMcp
  readonly memory: RunMemory
}

export type CreateRunServices = (caller: ServiceCaller) => RunServices
