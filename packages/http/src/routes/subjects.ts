import type { subjectOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { ndjsonResponse } from '../response/ndjson.ts'

/** `/subjects`: the users of issuers and of the host. */
export const subjectRoutes = ({
  readSubjectUsage,
  exportSubject,
  eraseSubject,
  revokeSubject,
}: Pick<UseCases, 'readSubjectUsage' | 'exportSubject' | 'eraseSubject' | 'revokeSubject'>): Handlers<
  typeof subjectOperations
> => ({
  getSubjectUsage: async ({ params, principal }) => ({
    status: 200,
    body: await readSubjectUsage({ subject: params.subject, principal }),
  }),
  exportSubject: async ({ params: { subject }, principal }) =>
    ndjsonResponse(await exportSubject({ subject, principal })),
  deleteSubject: ({ params: { subject }, principal, key }) => eraseSubject({ subject, principal, key }),
  revokeSubject: ({ params, body, principal, key }) =>
    revokeSubject({ ...body, subject: params.subject, principal, key }),
})
