import { createManageSkills, type ManageSkillsDeps } from './manage-skills.ts'
import { createReadSkills } from './read-skills.ts'

/** Everything of skills, wired once: the use cases for the edges. */
export const createSkills = (deps: ManageSkillsDeps) => ({
  readSkills: createReadSkills(deps),
  manageSkills: createManageSkills(deps),
})
