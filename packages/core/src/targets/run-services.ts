import type { ServiceCaller } from '../durable/service-caller.ts'
import type { RunMcp } from '../mcp/run-mcp.ts'
import type { RunMemory } from '../memory/run-memory.ts'
import type { RunSession } from '../sessions/run-session.ts'
import type { RunSkills } from '../skills/run-skills.ts'

/** The rest of the server as the code of a run sees it; each member is made for the run by its own group. */
export interface RunServices {
  /** The conversation the run belongs to; `undefined` for a run without a session. */
  readonly session: RunSession | undefined
  readonly skills: RunSkills
  readonly mcp: RunMcp
  readonly memory: RunMemory
}

export type CreateRunServices = (caller: ServiceCaller) => RunServices
