import type { subjectOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/subjects`: the users of issuers and of the host. */
export const subjectRoutes = ({
  readSubjectUsage,
  revokeSubject,
}: Pick<UseCases, 'readSubjectUsage' | 'revokeSubject'>): Handlers<typeof subjectOperations> => ({
  getSubjectUsage: async ({ params, principal }) => ({
    status: 200,
    body: await readSubjectUsage({ subject: params.subject, principal }),
  }),
  revokeSubject: ({ params, body, principal, key }) =>
    revokeSubject({ ...body, subject: params.subject, principal, key }),
})
