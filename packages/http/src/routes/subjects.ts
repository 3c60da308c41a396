import type { subjectOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/subjects`: the users of issuers and of the host. */
export const subjectRoutes = ({
  revokeSubject,
}: Pick<UseCases, 'revokeSubject'>): Handlers<typeof subjectOperations> => ({
  revokeSubject: ({ params, body, principal, key }) =>
    revokeSubject({ ...body, subject: params.subject, principal, key }),
})
