# The manifests alone decide what is installed: a change of source leaves the installed layer in the cache.
FROM node:24-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
COPY apps apps
RUN find packages apps -type f ! -name package.json -delete

# The workspace stays a workspace: Node strips types only outside a real node_modules path, so our packages must remain links.
# The optional packages are the binaries of embedded Postgres, which an image that is given a database never starts.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY --from=manifests /app ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app ./
COPY packages packages
COPY apps apps
COPY migrations migrations
USER node
ENTRYPOINT ["node", "apps/cli/src/main.ts"]
CMD ["--help"]
