import type { ServiceCaller } from '../durable/service-caller.ts'
import type { RunFiles } from '../files/run-files.ts'
import type { RunMcp } from '../mcp/run-mcp.ts'
import type { RunMemory } from '../memory/run-memory.ts'
import type { RunSession } from '../sessions/run-session.ts'
import type { RunSkills } from '../skills/run-skills.ts'

/** The services that the server offers to the code of a run; each service is created for one run. */
export interface RunServices {
  /** The session of the run; `undefined` for a run without a session. */
  readonly session: RunSession | undefined
  readonly skills: RunSkills
  readonly mcp: RunMcp
  readonly memory: RunMemory
  readonly files: RunFiles
}

export type CreateRunServices = (caller: ServiceCaller) => RunServices
