import type { OperationTable } from '../operation.ts'
import { Health, Liveness, Readiness } from '../resources/health.ts'
import { SecretsHealth } from '../resources/secrets-health.ts'

export const healthOperations = {
  getHealth: {
    id: 'health.get',
    method: 'GET',
    path: '/health',
    scope: null,
    idempotent: false,
    responses: {
      200: { schema: Health, description: 'Healthy or degraded.' },
      503: { schema: Health, description: 'Failing.' },
    },
    errors: [],
    summary: 'Read the health roll-up.',
  },
  getLiveness: {
    id: 'health.live',
    method: 'GET',
    path: '/health/live',
    scope: null,
    idempotent: false,
    responses: { 200: { schema: Liveness, description: 'The process responds.' } },
    errors: [],
    summary: 'Probe liveness.',
  },
  getReadiness: {
    id: 'health.ready',
    method: 'GET',
    path: '/health/ready',
    scope: null,
    idempotent: false,
    responses: {
      200: { schema: Readiness, description: 'The server accepts new runs.' },
      503: { schema: Readiness, description: 'Starting, draining or failing: send new runs elsewhere.' },
    },
    errors: [],
    summary: 'Probe readiness.',
  },
  getSecretsHealth: {
    id: 'health.secrets',
    method: 'GET',
    path: '/health/secrets',
    scope: 'secrets:read',
    idempotent: false,
    responses: {
      200: {
        schema: SecretsHealth,
        description: 'The active store and every secret reference, without secret values.',
      },
    },
    errors: [],
    summary: 'Read the health of the secrets stores.',
  },
} as const satisfies OperationTable
