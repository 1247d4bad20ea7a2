//! Names of services that give out API keys: a random value under such a name is one, even if it looks like a hash.

use std::sync::LazyLock;

use super::{class::KeyClass, domain_nouns::is_thing, word_split::pieces};

/// Whether a name, its words joined, begins with the name of such a service. Answers how many bytes of it that takes.
pub fn service(joined: &str) -> Option<usize> {
    /// By their first two bytes, modulo 1024; the longest first.
    static ALL: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
        let mut all = vec![Vec::new(); 1024];
        for name in SERVICES.split_ascii_whitespace() {
            all[place(name)].push(name);
        }
        for names in &mut all {
            names.sort_unstable_by_key(|it| std::cmp::Reverse(it.len()));
        }
        all
    });
    let name = ALL[place(joined)].iter().find(|it| joined.starts_with(**it))?;
    Some(name.len())
}

fn place(text: &str) -> usize {
    let mut bytes = text.bytes().map(usize::from);
    (bytes.next().unwrap_or(0) << 5 ^ bytes.next().unwrap_or(0)) & 1023
}

/// Public APIs and developer services. Names that are also ordinary words of data (`apple`, `box`, `front`, `wave`) are left
/// out unless nothing else is called so in a request.
const SERVICES: &str = "\
1password abbysale abstractapi abuseipdb abyssale accuweather activecampaign adafruit adobe adafruitio adobeio adzuna \
aeroworkflow agora aha aikido airbrake airnow airship airtable airvisual aiven alchemy alconost alegra aletheia \
algolia alibaba alienvault aliyun allsports alphavantage amadeus amazonaws ambee amplitude anthropic anypoint apacta \
api2cart apideck apiflash apifonica apify apilayer apimatic apimetrics apininjas apitemplate apitorch apollo appcues \
appdynamics appetize appfollow appointedd appoptics appsflyer appsmith appsynergy apptivo apptus aqicn artifactory \
artsy asana assemblyai atera atlassian audd auddio auth0 authress autodesk autoklose autopilot avaza aviationstack \
awin aws axonaut aylien ayrshare azure azureopenai bannerbear baremetrics basecamp basistheory beamer beebole besnappy \
bestbuy besttime betterstack billomat bingmaps bitbar bitbucket bitcoinaverage bitfinex bitly bitmex bitrise bittrex \
blablabus blackduck blazemeter blitapp blockfrost blocknative blogger blynk bombbomb boostnote borgbase braintree \
braintrust brandfetch braze brevo brightdata broadcom browserless browserstack browshot bscscan buddyns budibase \
bugherd bugsnag buildkite bulbul bulksms bunnycdn buttercms buzzsprout caflou calendarific calendly calorieninja \
campayn cannyio canva capsulecrm captaindata carboninterface cashboard caspio censys centralstation cerebras cexio \
chaingateway chainstack chargify chartmogul chatbot chatfuel chatfule checio checklyhq checkvist cicero circleci cisco \
clarifai claude clearbit clerk clickhelp clickhouse clicksend clickup cliengo clientary clinchpad clockify \
clockworksms clojars closecrm cloudconvert cloudelements cloudflare cloudimage cloudinary cloudmersive cloudplan \
cloudsight cloudsmith cloudways cloverly cloze clustdoc cockroachdb cockroachlabs coda codacy codeclimate codecov \
codemagic codequiry coderwall cohere coinapi coinbase coincap coingecko coinlayer coinlib coinmarketcap collect2 \
column commercejs companyhub configcat confluent contentful contentstack conversiontools convertapi convertkit convier \
copyleaks coqui couchbase countrylayer covalent coveralls craftmypdf cratesio crossbrowsertesting crowdin crowdstrike \
cryptocompare currencycloud currencyfreaks currencylayer currencyscoop currentsapi customerguru customerio d7network \
dailyco dandelion dareboost databento databox databricks datadog datagov debounce deepai deepgram deepl deepseek \
delighted demio denodeploy dependencytrack deputy detectify detectlanguage devcycle devin dfuse diffbot diggernaut digicert \
digitalocean digitaloceanv2 discogs discord discourse disqus ditto dnscheck dnsimple docker dockerhub docparser documo \
docusign doppler dotdigital dotmailer dovico dreamstudio dronahq droneci dropbox dtrack duffel duply dwolla dynadot \
dynalist dynatrace dyspatch eagleeyenetworks easyinsight easypost ecostruxure edamam edenai eightxeight elasticemail \
elasticsearch elevenlabs enablex endorlabs enigma enrichcrm envoy eodhd eraser etherscan ethplorer etsy eventbrite \
everhour exchangerate exchangerates exportsdk extractorapi facebook faceplusplus factset fastforex fastly fastspring \
fathom faunadb faveo feedier fetchrss fibery figma fileio filestack finage financialmodelingprep findl finerworks \
finicity finnhub firebase firecrawl fireworksai fixerio flatio fleetbase flexport flickr flightapi flightlabs \
flightstats flowflu flutterwave flyio fmfw formbucket formcraft formio formsite foursquare frameio freemius freshbooks \
freshdesk freshsales freshservice friendlycaptcha fulcrum fullcontact fullstory funtranslations fxmarket gcp \
geckoboard gemini gengo geoapify geocode geocodify geocodio geoipifi getaddress getblock getemail getemails getgeoapi \
getgist getresponse getsandbox ghost giphy gitee github gitlab gitter glassnode gnews gocanvas gocardless godaddy \
goldapi goodday googleapi googlemaps gotenberg gradle grafana graphcms graphhopper greptile groovehq groq \
grubhub gtmetrix guardianapi gumroad gyazo happi happyscribe harness harvest hashicorp hasura haveibeenpwned \
heatmapapi helicone hellosign helpcrunch helpscout hereapi heroku hiveage holidayapi holistic honeybadger honeycomb \
hotjar html2pdf htmlcsstoimage hubspot huggingface humanity hunter hunterio hybiscus hyperbrowser hypertrack ibm \
iconfinder iexapis iexcloud imagekit imagga imgix imgur impala infobip infracost infura insightly instabot instamojo \
integromat intercom interseller intra42 intrinio invoiceocean ionic ip2location ipapi ipdata ipgeolocation ipify \
ipinfo ipinfodb ipquality ipqualityscore ipregistry ipstack iterable jamf jasper jdbc jenkins jfrog jigsawstack jira \
jotform jumpcloud jupiterone juro kaggle kakao kanban kanbantool karmacrm keenio kibana kickbox kinde klaviyo \
klipfolio knapsackpro kommo kontent korbit kraken kubernetes kucoin kylas landbot langchain langfuse langsmith \
languagelayer larksuite lastfm launchdarkly ldap leadfeeder lemlist lemonsqueezy lendflow lessannoyingcrm lexigram \
lexoffice linear linemessaging linenotify linkedin linkpreview liveagent livestorm loadmill lob locationiq logdna \
loggly loginradius logrocket logz logzio lokalise looker loyverse lunchmoney luno m3o macaddress madkudu magento \
magicbell mailboxlayer mailchimp mailerlite mailersend mailgun mailjet mailjetsms mailmodo mailsac mailtrap mandrill \
mapbox mapquest maptiler marketstack mattermost mavenlink maxmind meaningcloud measurementprotocol mediastack \
meistertask memberstack meraki mesibo messagebird metaapi metabase metrilo microsoft microsoftteams mindmeister miro \
mistral mixmax mixpanel mockaroo monday mongodb monkeylearn moonclerk moosend moralis morningstar mrticktock msteams \
mux myfreshworks myintervals nasdaq nasdaqdatalink neo4j nethunt netlify netrc netsuite neutrino newrelic newsapi \
newscatcher newsdata nexmo nftport ngc ngrok nicereply nightfall nimble noticeable notion novita nozbe npm npmjs nuget \
nugetapi numverify nutritionix nvapi nylas nytimes oanda octopus odbc okta omnisend onedesk onelogin onepagecrm \
onesignal onfleet onwater oopspam openai openaiadmin openaq opencage opencagedata openexchangerates opengraphr \
openrouter openshift openuv openvpn openweather openweathermap opsgenie optidash optimizely oracle overloop owlbot \
packagecloud paddle pagarme pagerduty pagespeed pandadoc pandascore paperform paralleldots parsehub parseur particleio \
partnerstack passbase pastebin paydirtapp paymo paymoapp paymongo paypal paystack pdflayer pdfshift peopledatalabs \
pepipost perplexity pganalyze photoroom phraseaccess pinata pinecone pingdom pipedream pipedrive pivotaltracker \
pixabay plaid planetscale planview planviewleankit planyo plivo podio pollsapi poloniex polygon portainer \
positionstack postageapp postbacks postgres posthog postman postmark powerbi powrbot prefect privateai prodpad \
prospectcrm prospectio protocolsio proxycrawl psexec publit pubnub pulumi purestake pushbullet pusher pushover pyowm \
pypi qase qualaroo qualtrics quandl qubole quickbase quickbooks quicknode rabbitmq railway railwayapp rapidapi raven \
rawg razorpay reachmail readme reallysimplesystems rebrandly recaptcha recharge rechargepayments recruitee reddit \
redhat redis refiner removebg rentman repairshopr replicate replyio requestfinance resend restpack restpackhtmltopdf \
restpackscreenshot retellai retool revampcrm ringcentral riteapi ritekit roaring robinhood robinhoodcrypto rocketreach \
rockset rollbar roninapp rootly route4me rownd rubygems runpod runrunit saladcloud salesblink salescookie salesflare \
salesforce salesloft salesmate sanity satismeter saucelabs scaleway scalingo scalr schemafree scrapeowl scraperapi \
scraperbox scrapersite scrapestack scrapfly scrapingant scrapingbee screenshotapi screenshotlayer scrutinizerci \
searchapi securitytrails selectpdf semantria semaphore sendbird sendbirdorganization sendgrid sendinblue sentry \
serpapi serper serphouse serpstack settlemint sheety sherpadesk shipday shipengine shippo shodan shopify shortcut \
shotstack shutterstock sidekiq signable signalwire signaturit signupgenius signwell sigopt simfin simplesat simplybook \
simplynoted simvoly sinchmessage sirv siteleaf skrapp skrappio skybiometry skyscanner slack smartsheet smartsheets \
smartystreets smooch snipcart snowflake snyk snykkey socrata softr solarwinds sonar sonarcloud sonarqube sourcegraph \
sourcegraphcody sparkpost spectralops speechmatics speechtext speechtextai splunk splunkobservability spoonacular sportmonks \
sportradar sportsmonk spotify sqlserver square squareapp squarespace squareup squidex sslmate stability stackhawk \
stackoverflow statsig statuscake statuspage statuspal stitchdata stockdata storecove stormboard stormglass storyblok \
storychief strava streak stripe stripo stytch sugester sumologic supabase supernotes supernotesapi superplanning \
surveyanyplace surveybot surveymonkey surveysparrow survicate svix swiftype tableau tailscale talkdesk tallyfy tatumio \
tavily taxjar teamgate teamviewer teamwork teamworkcrm teamworkdesk teamworkspaces technicalanalysis tefter telegram \
teletype telnyx tencent terraform testingbot testiny textmagic textrazor theoddsapi thingsboard thinkific thousandeyes \
threatconnect ticketmaster tickettailor tiingo timecamp timezoneapi tineswebhook tly tmetric todoist togetherai \
toggltrack tokeet tomorrowio tomtom tradier transferwise travelpayouts travisci trello trilium truenas trufflehog \
tunnelblick twelvedata twilio twist twitch twitchtv twitter tyntec typeform typetalk ubidots uclassify unifyid unplugg \
unsplash upcdatabase updown uplead uploadcare uploadthing upstash uptimerobot uptrace upwave urlscan userflow \
userstack vagrantcloud vatlayer vault vbout veevavault veracode vercel verimail veriphone versioneye viewneo vimeo \
virustotal visualcrossing visualstudio voiceflow voicegain voicify voodoosms vouchery vpnapi vultr vyte wakatime \
walkscore wandb wassenger weatherapi weatherbit weatherstack web3storage webex webflow webscraper webscraping \
websitepulse weightsandbiases wepay whatconverts whoxy wireguard wistia wiz woocommerce wordpress wordsapi workato \
workday workos worksnaps workstack worldcoinindex worldweather wrike xai xata yandex yelp ynab youneedabudget yousign \
youtube zapier zapierwebhook zendesk zenkit zenkitapi zenrows zenscrape zenserp zeplin zerobounce zerossl zerotier \
zipapi zipbooks zipcodeapi zipcodebase zoho zohocrm zonkafeedback zulip zulipchat";

/// A name that is, or begins with, a service that gives out keys. `Likely`: it speaks of credentials, too.
pub fn of_service(words: &[String], lower: &str) -> Option<KeyClass> {
    let from = words.iter().take_while(|it| LEADS.contains(&it.as_str())).count();
    // Names such as `intra42` have digits in them, which words have not.
    let whole: String = lower.chars().filter(char::is_ascii_alphanumeric).collect();
    let found = [from, 0].into_iter().find_map(|from| with_service(&words[from..].concat()));
    let names_thing = words.len() > 1 && words.last().is_some_and(|it| is_thing(it));
    let first = words.get(from).filter(|it| it.len() >= 6 && !names_thing);
    let leads = || first.filter(|it| service(it) == Some(it.len())).map(|_| KeyClass::Perhaps);
    found.or_else(|| with_service(&whole)).or_else(leads)
}

/// Whether a name of several words begins with such a service: `azure_search_key`.
pub fn is_led(words: &[String]) -> bool {
    let first = words.iter().find(|it| !LEADS.contains(&it.as_str()));
    first.is_some_and(|it| it.len() >= 4 && service(it) == Some(it.len()))
}

fn with_service(joined: &str) -> Option<KeyClass> {
    let rest = &joined[service(joined)?..];
    if rest.is_empty() {
        return Some(KeyClass::Perhaps);
    }
    let known = |it: &str| {
        TELLING.contains(&it) || OF_CREDENTIALS.contains(&it) || service(it) == Some(it.len())
    };
    let rest = pieces(rest, &known)?;
    let tells = rest.iter().any(|it| TELLING.contains(it));
    Some(if tells { KeyClass::Likely } else { KeyClass::Perhaps })
}

/// What may stand before the name of a service: `x-rapidapi-key`, `REACT_APP_MAPBOX_TOKEN`.
const LEADS: &[&str] = &["x", "my", "react", "app", "next", "public", "vite", "the", "http"];
/// What after it leaves no doubt.
const TELLING: &[&str] = &[
    "key",
    "keys",
    "token",
    "tokens",
    "pass",
    "auth",
    "pat",
    "access",
    "private",
    "login",
    "bearer",
    "basic",
    "jwt",
    "oauth",
    "credential",
    "credentials",
    "webhook",
    "signature",
    "dsn",
    "license",
    "pwd",
];
/// What else may stand after it.
const OF_CREDENTIALS: &[&str] = &[
    "hook",
    "cert",
    "certificate",
    "sid",
    "session",
    "team",
    "workspace",
    "developer",
    "partner",
    "consumer",
    "integration",
    "subscription",
    "publish",
    "insert",
    "ingest",
    "query",
    "browser",
    "mobile",
    "global",
    "sandbox",
    "production",
    "staging",
    "primary",
    "secondary",
    "db",
    "v",
    "api",
    "app",
    "id",
    "live",
    "test",
    "personal",
    "client",
    "public",
    "account",
    "user",
    "read",
    "write",
    "rest",
    "sdk",
    "admin",
    "service",
    "bot",
    "org",
    "project",
    "cloud",
    "env",
    "prod",
    "dev",
    "server",
    "web",
    "application",
    "master",
    "management",
    "com",
    "io",
    "ai",
    "hq",
    "crm",
];

#[cfg(test)]
mod tests {
    use super::{SERVICES, service};

    #[test]
    fn the_longest_name_counts() {
        assert_eq!(service("githubtoken"), Some(6));
        assert_eq!(service("openweathermapkey"), Some(14));
        assert_eq!(service("title"), None);
        for name in SERVICES.split_ascii_whitespace() {
            let longest = SERVICES.split_ascii_whitespace().filter(|it| name.starts_with(it));
            assert_eq!(service(name), longest.map(str::len).max(), "{name}");
            assert_eq!(service(&format!("{name}~")), Some(name.len()), "{name}");
        }
    }
}
