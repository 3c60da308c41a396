import type { skillOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/skills`: listing, reading, installing and removing skills. */
export const skillRoutes = ({
  readSkills,
  manageSkills,
}: Pick<UseCases, 'readSkills' | 'manageSkills'>): Handlers<typeof skillOperations> => ({
  listSkills: async ({ query }) => ({ status: 200, body: await readSkills.list(query) }),
  getSkill: async ({ params }) => ({ status: 200, body: await readSkills.get(params.skillName) }),
  installSkill: ({ body, principal, key }) => manageSkills.install({ source: body.source, principal, key }),
  removeSkill: ({ params, principal, key }) => manageSkills.remove({ name: params.skillName, principal, key }),
})
