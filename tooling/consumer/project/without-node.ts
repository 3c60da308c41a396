// Type-checked without the types of Node.js; never run.
import { createServer, defineAgent, defineConfig } from 'perdure'
import { createClient } from 'perdure/client'
import { defineEval } from 'perdure/evals'
import { runAgent } from 'perdure/testing'

export const entries = [createServer, defineAgent, defineConfig, createClient, defineEval, runAgent]
